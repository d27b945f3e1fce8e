#pragma once

#include "bridge/service_bridge.h"
#include "pages/bucket/header_tables.h"

#include "deltascope/app/view/listing_page.h"

#include <QTimer>
#include <QWidget>

class QFormLayout;
class QLabel;
class QTreeView;

namespace deltascope::desktop {

/// What can be known of one object without its payload: size, time, and the header of a safetensors file. GUI thread.
class BucketPreview final : public QWidget {
    Q_OBJECT

public:
    BucketPreview(ServiceBridge& bridge, QWidget* parent = nullptr);

    void setSource(const std::optional<app::SourceRequest>& source);
    /// `prefix`: of the folder that the row is in. Null: nothing is chosen.
    void showRow(const app::ListingRowView* row, const std::string& prefix);

    const std::string& key() const { return m_key; }
    bool isReading() const { return m_reading; }
    HeaderPointer header() const { return m_header; } ///< null while it is not known

private:
    void read();
    void showHeader(HeaderPointer header);
    void say(const QString& text, const char* role);

    ServiceBridge& m_bridge;
    std::optional<app::SourceRequest> m_source;
    std::string m_key;
    std::int64_t m_modifiedUs = 0;
    std::uint64_t m_size = 0;
    HeaderPointer m_header;
    bool m_reading = false;
    quint64 m_generation = 0; ///< of what is asked for; other answers are old
    QTimer m_settle; ///< the selection runs through a list

    QLabel* m_title;
    QLabel* m_sizeText;
    QLabel* m_exact;
    QLabel* m_modified;
    QLabel* m_headerSize;
    QLabel* m_message;
    QWidget* m_facts;
    QLabel* m_metadataTitle;
    QLabel* m_tensorsTitle;
    MetadataTable* m_metadata;
    TensorTable* m_tensors;
    QTreeView* m_metadataView;
    QTreeView* m_tensorsView;
    QWidget* m_tables;
};

} // namespace deltascope::desktop
